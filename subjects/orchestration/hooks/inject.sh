#!/bin/sh
# The answer of a SessionStart hook: JSON whose additionalContext is ORCHESTRATION.md.
set -eu
rules=$(dirname "$0")/../ORCHESTRATION.md
printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"'
sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/$/\\n/' "$rules" | tr -d '\n'
printf '"}}\n'
