//! The vault's life over the store: environment variables, SSH keys, provider keys; migrate, rotate, disable.
