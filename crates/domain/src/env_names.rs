//! Names of environment variables that control which code a program runs, which files it loads, or where it
//! connects. `operator.write` is enough to change a value in the vault, so such a value must never reach a
//! program under one of these names: that would turn `operator.write` into code execution.
//!
//! The list covers dynamic loaders, shells, language runtimes, package managers, version control, TLS
//! libraries and proxies. The comparison ignores case, because some consumers (npm, curl's proxies, every
//! program on Windows) do.

/// Exact names, in upper case.
const NAMES: &[&str] = &[
    // The process and its shell.
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "COMSPEC",
    "ENV",
    "FPATH",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "GETCONF_DIR",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "LOCALDOMAIN",
    "LOCPATH",
    "LOGNAME",
    "NLSPATH",
    "PATH",
    "PATHEXT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    "SHELL",
    "SHELLOPTS",
    "TEMP",
    "TERMCAP",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TERMPATH",
    "TMP",
    "TMPDIR",
    "TZDIR",
    "USER",
    "USERPROFILE",
    "ZDOTDIR",
    // Programs that other programs start.
    "BROWSER",
    "EDITOR",
    "LESSCLOSE",
    "LESSKEY",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "VISUAL",
    // Language runtimes.
    "ANT_OPTS",
    "CLASSPATH",
    "ELIXIR_ERL_OPTIONS",
    "ERL_AFLAGS",
    "ERL_FLAGS",
    "ERL_LIBS",
    "ERL_ZFLAGS",
    "EXTRA_CCFLAGS",
    "GRADLE_OPTS",
    "GUILE_LOAD_COMPILED_PATH",
    "GUILE_LOAD_PATH",
    "JAVA_HOME",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVAC_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JULIA_DEPOT_PATH",
    "JULIA_LOAD_PATH",
    "JULIA_PROJECT",
    "MAVEN_ARGS",
    "MAVEN_OPTS",
    "PERLLIB",
    "R_ENVIRON",
    "R_ENVIRON_USER",
    "R_HOME",
    "R_LIBS",
    "R_LIBS_SITE",
    "R_LIBS_USER",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SBT_OPTS",
    "TCLLIBPATH",
    "TSX_TSCONFIG_PATH",
    "TS_NODE_PROJECT",
    "VIRTUAL_ENV",
    "_JAVA_OPTIONS",
    // Compilers and build tools.
    "AR",
    "AS",
    "CC",
    "CFLAGS",
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPP",
    "CPPFLAGS",
    "CXX",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "GCC_EXEC_PREFIX",
    "LDFLAGS",
    "LIBRARY_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "PKG_CONFIG_PATH",
    // TLS, proxies and resolvers.
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "OPENSSL_CONF",
    "OPENSSL_CONF_INCLUDE",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "REQUESTS_CA_BUNDLE",
    "SSLKEYLOGFILE",
    "WGETRC",
];

/// Prefixes, in upper case.
const BEGINNINGS: &[&str] = &[
    "BASH_FUNC_",
    "BUNDLE_",
    "BUN_",
    "CARGO_",
    "COMPOSER_",
    "CONDA_",
    "CORECLR_",
    "COREHOST_",
    "COR_",
    "COMPLUS_",
    "DENO_",
    "DOCKER_",
    "DOTNET_",
    "DYLD_",
    "GEM_",
    "GIO_",
    "GIT_",
    "GTK_",
    "HOMEBREW_",
    "LD_",
    "LUAROCKS_",
    "LUA_",
    "MALLOC_",
    "MSBUILD",
    "NODE_",
    "NPM_",
    "NUGET_",
    "NVM_",
    "PERL5",
    "PERL_",
    "PHP",
    "PIP_",
    "PIPX_",
    "PNPM_",
    "POETRY_",
    "PYTEST_",
    "PYTHON",
    "QT_",
    "RBENV_",
    "RUBY",
    "RUSTC",
    "RUSTDOC",
    "RUSTUP_",
    "RUST_BACKTRACE",
    "SERVICE_",
    "SSL_CERT_",
    "UV_",
    "XDG_",
    "YARN_",
];

/// Suffixes, in upper case.
const ENDS: &[&str] = &["_PROXY"];

/// Variables of the `go` tool that name programs, files, flags or servers. The prefix `GO` would also match
/// harmless names (`GOOGLE_API_KEY`), so these are listed one by one.
const GO: &[&str] = &[
    "GO111MODULE",
    "GOARCH",
    "GOAUTH",
    "GOBIN",
    "GOCACHE",
    "GOCACHEPROG",
    "GODEBUG",
    "GOENV",
    "GOEXPERIMENT",
    "GOFIPS140",
    "GOFLAGS",
    "GOGC",
    "GOINSECURE",
    "GOMEMLIMIT",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOOS",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOROOT",
    "GOSUMDB",
    "GOTMPDIR",
    "GOTOOLCHAIN",
    "GOTRACEBACK",
    "GOVCS",
    "GOWORK",
];

/// Names that match a runtime's prefix but hold a credential for a registry or service, in upper case.
const CREDENTIALS: &[&str] = &["NODE_AUTH_TOKEN", "NPM_TOKEN"];

/// Whether a variable with this name controls which code a program runs, which files it loads, or where it
/// connects. Ignores ASCII case.
pub fn steers_a_program(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let name = name.as_str();
    if CREDENTIALS.contains(&name) {
        return false;
    }
    NAMES.contains(&name)
        || GO.contains(&name)
        || BEGINNINGS.iter().any(|part| name.starts_with(part))
        || ENDS.iter().any(|part| name.ends_with(part))
}

#[cfg(test)]
mod tests;
