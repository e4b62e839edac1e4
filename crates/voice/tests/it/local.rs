//! Programs and servers on this machine.
