systemd-sysusers gatehouse.conf || :
systemctl --system daemon-reload >/dev/null 2>&1 || :
if [ "$1" -eq 1 ]; then
    systemctl preset gatehouse.service >/dev/null 2>&1 || :
else
    systemctl try-restart gatehouse.service >/dev/null 2>&1 || :
fi
