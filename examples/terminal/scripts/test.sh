#!/bin/sh
# Tests a program that adds up its arguments: sh scripts/test.sh src/total.sh
program=$1
passing=0
failing=0

check() {
  expected=$1
  shift
  found=$(sh "$program" "$@")
  if [ "$found" = "$expected" ]; then
    passing=$((passing + 1))
  else
    failing=$((failing + 1))
    echo "total of $*: expected $expected, found $found"
  fi
}

check 0
check 6 1 2 3
check 2 5 -3

if [ "$failing" -eq 0 ]; then
  echo "$passing passing"
else
  echo "$failing failing"
  exit 1
fi
