[ -z "$(sh greet.sh -)" ] && [ "$(sh greet.sh Ada)" = "Hello, Ada" ]
