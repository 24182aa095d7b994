# Says whether the disk of a path is fuller than a limit in per cent: sh scripts/disk.sh PATH LIMIT
used=$(df -P "$1" | awk 'NR == 2 { print $5 + 0 }')
if [ "$used" -ge "$2" ]; then state=full; else state=fine; fi
echo "disk:$state at $used"
