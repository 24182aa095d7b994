#!/bin/sh
# Adds up its arguments, but has forgotten that numbers may be below zero.
total=0
for number in "$@"; do
  total=$((total + ${number#-}))
done
echo "$total"
