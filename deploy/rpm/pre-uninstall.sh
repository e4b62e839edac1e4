if [ "$1" -eq 0 ]; then
    systemctl disable --now gatehouse.service >/dev/null 2>&1 || :
fi
