//! Tests of the parent module.

use super::*;

#[test]
fn names_that_steer_a_program_are_recognised_in_any_case() {
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "BASH_ENV",
        "BASH_FUNC_ls%%",
        "ENV",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "PERLLIB",
        "RUBYOPT",
        "RUBYLIB",
        "GEM_PATH",
        "GEM_HOME",
        "BUNDLE_GEMFILE",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "CLASSPATH",
        "npm_config_registry",
        "NPM_CONFIG_NODE_OPTIONS",
        "UV_INDEX_URL",
        "PIP_INDEX_URL",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "HOME",
        "PATH",
        "Path",
        "SHELL",
        "IFS",
        "PS4",
        "PROMPT_COMMAND",
        "GLIBC_TUNABLES",
        "MALLOC_CHECK_",
        "LUA_PATH",
        "LUA_INIT",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "DOTNET_STARTUP_HOOKS",
        "CORECLR_PROFILER_PATH",
        "RUSTC_WRAPPER",
        "CARGO_HOME",
        "GOFLAGS",
        "GOPROXY",
        "CURL_HOME",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "https_proxy",
        "ALL_PROXY",
        "NO_PROXY",
        "OPENSSL_CONF",
        "XDG_CONFIG_HOME",
        "EDITOR",
        "SSH_ASKPASS",
        "TMPDIR",
        "CC",
        "DENO_DIR",
        "SERVICE_API_KEY",
    ] {
        assert!(steers_a_program(name), "{name}");
        assert!(steers_a_program(&name.to_ascii_lowercase()), "{name}");
    }
}

#[test]
fn names_of_credentials_do_not_steer_a_program() {
    for name in [
        "GITHUB_TOKEN",
        "GITHUB_PERSONAL_ACCESS_TOKEN",
        "GOOGLE_API_KEY",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "SLACK_BOT_TOKEN",
        "DATABASE_URL",
        "ENVIRONMENT",
        "PATHS",
        "HOMEPAGE_TOKEN",
        "LOG_LEVEL",
        "MCP_FILES_TOKEN",
        "NPM_TOKEN",
        "NODE_AUTH_TOKEN",
        "PROXY",
        "",
    ] {
        assert!(!steers_a_program(name), "{name}");
    }
}

#[test]
fn the_lists_are_in_upper_case() {
    let all = [NAMES, BEGINNINGS, ENDS, GO, CREDENTIALS].concat();
    for entry in all {
        assert_eq!(entry, entry.to_ascii_uppercase());
    }
}
