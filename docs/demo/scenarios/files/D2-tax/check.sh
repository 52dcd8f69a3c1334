[ "$(sh price.sh 300)" = 360 ] && [ "$(sh invoice.sh 300)" = "net 300, to pay 360" ]
