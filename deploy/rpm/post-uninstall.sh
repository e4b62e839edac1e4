systemctl --system daemon-reload >/dev/null 2>&1 || :
