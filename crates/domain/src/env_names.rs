//! Names of environment variables that decide which code a program runs.

/// Whether a variable of this name steers a loader, an interpreter or a package manager.
pub fn steers_a_program(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "PATH",
        "HOME",
        "SHELL",
        "IFS",
        "ENV",
        "BASH_ENV",
        "BASHOPTS",
        "SHELLOPTS",
        "PS4",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
    ];
    const PREFIXES: [&str; 11] = [
        "LD_",
        "DYLD_",
        "NODE_",
        "PYTHON",
        "PERL5",
        "RUBY",
        "NPM_CONFIG_",
        "UV_",
        "PIP_",
        "GIT_",
        "BASH_FUNC",
    ];
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
