# The five largest things in a folder: sh scripts/largest.sh PATH
du -xsh "$1"/* 2>/dev/null | sort -rh | head -5
echo "listed:$1"
