#!/bin/sh
# A job in shell: one process that lives on, and answers checks of orders, a line each. An order has
# been paid when there is a file of its number in the folder that is the first argument.
folder=$1
say() { printf '%s\n' "$1"; }

# member NAME: the text of a short member of the line, as it stands there
member() { value=${line#*\"$1\":\"}; value=${value%%\"*}; }

read -r hello
say '{"prescient":1,"window":4}'
while read -r line; do
    member id; id=$value
    member entity_key; key=$value
    case $key in
    '' | *[!0-9]*) say "{\"id\":\"$id\",\"fail\":\"no number of an order\",\"final\":true}" ;;
    *) if [ -e "$folder/$key" ]; then
            say "{\"id\":\"$id\",\"done\":true}"
        else
            say "{\"id\":\"$id\",\"again_at\":\"+1d\",\"note\":\"not paid yet\"}"
        fi ;;
    esac
done
