//! Tests of the parent module.

use super::*;
use crate::tests::{Start, shown};
use serde_json::json;

fn literal(variable: &McpVariable) -> &str {
    match variable {
        McpVariable::Literal(value) => value.expose_secret(),
        McpVariable::Vault(key) => panic!("{key}"),
    }
}

#[test]
fn a_variable_may_be_in_the_vault() {
    let start = Start::with_toml(
        "[mcp.servers.a]\ncommand = \"x\"\n[mcp.servers.a.env]\nA = \"1\"\n\
         B = { vault = \"KEY\" }\n",
    );
    let resolved = start.resolve(&[]);
    let McpServer::Command { env, .. } = &resolved.settings.mcp.servers["a"] else {
        panic!()
    };
    assert!(matches!(&env["B"], McpVariable::Vault(key) if key == "KEY"));
    assert_eq!(literal(&env["A"]), "1");
}

#[test]
fn a_server_is_a_program_or_a_url() {
    let start = Start::with_toml(
        "[mcp.servers.files]\ncommand = \"mcp-files\"\nargs = [\"--root\", \"\"]\n\
         env = { TOKEN = \"s3cret\" }\n\
         [mcp.servers.far]\nurl = \"https://mcp.example.com/mcp\"\n\
         headers = { X-Key = \"s3cret {{secret:KEY}}\" }\n",
    );
    let resolved = start.resolve(&[]);
    let servers = &resolved.settings.mcp.servers;
    let McpServer::Command { command, args, env } = &servers["files"] else {
        panic!("{servers:?}")
    };
    assert_eq!((command.as_str(), args.len()), ("mcp-files", 2));
    assert_eq!(literal(&env["TOKEN"]), "s3cret");
    let McpServer::Url { url, headers } = &servers["far"] else {
        panic!("{servers:?}")
    };
    assert_eq!(headers["x-key"].expose_secret(), "s3cret {{secret:KEY}}");
    assert_eq!(url.as_str(), "https://mcp.example.com/mcp");
    assert!(!format!("{servers:?}").contains("s3cret"));
    for key in [
        "mcp.servers.files.env",
        "mcp.servers.files.args",
        "mcp.servers.far.headers",
    ] {
        assert_eq!(shown(&resolved, key).0, json!(crate::MASK), "{key}");
    }
}

#[test]
fn a_table_of_its_own_and_the_environment_set_variables_too() {
    let table = "[mcp.servers.a]\ncommand = \"x\"\n[mcp.servers.a.env]\nA = \"1\"\nB = \"2\"\n";
    let var = "SERVICE_MCP__SERVERS__B__ENV";
    let start = Start::with_toml(table).var("SERVICE_MCP__SERVERS__B__COMMAND", "y");
    let resolved = start.var(var, "A=1, B=2").resolve(&[]);
    for id in ["a", "b"] {
        let McpServer::Command { env, .. } = &resolved.settings.mcp.servers[id] else {
            panic!("{id}")
        };
        let env: Vec<_> = env
            .iter()
            .map(|(name, value)| (name.as_str(), literal(value)))
            .collect();
        assert_eq!(env, [("A", "1"), ("B", "2")]);
    }
}

#[test]
fn what_does_not_fit_together_stops_the_start() {
    for (toml, expected) in [
        ("args = [\"a\"]", "set a command or a url"),
        ("command = \"\"", "expected a program"),
        ("command = \"a\"\nurl = \"http://h/\"", "not both"),
        ("url = \"http://h/\"\nargs = [\"a\"]", "only with a command"),
        (
            "command = \"a\"\nheaders = { a = \"b\" }",
            "only with a url",
        ),
        (
            "url = \"http://h/\"\nheaders = { \"Mcp-Session-Id\" = \"1\" }",
            "only the gateway sets",
        ),
        ("command = \"a\"\nenv = { \"A-B\" = \"1\" }", "variable"),
        ("command = \"a\"\nenv = { A = 1 }", "a string"),
        (
            "command = \"a\"\nenv = { A = { file = \"x\" } }",
            "a string, or",
        ),
        (
            "command = \"a\"\nenv = { NODE_OPTIONS = { vault = \"X\" } }",
            "NODE_OPTIONS controls",
        ),
        ("command = \"a\"\nenv = [\"A=1\"]", "variables"),
        ("command = \"a\"\nshell = true", "unknown key"),
    ] {
        let error = Start::with_toml(&format!("[mcp.servers.x]\n{toml}\n")).error();
        assert!(error.to_string().contains(expected), "{toml}: {error}");
    }
}

#[test]
fn a_change_of_any_part_starts_the_program_again() {
    let program = |command: &str, arg: &str, value: McpVariable| McpServer::Command {
        command: command.to_owned(),
        args: vec![SecretString::from(arg)],
        env: BTreeMap::from([("A".to_owned(), value)]),
    };
    let literal = |text: &str| McpVariable::Literal(SecretString::from(text));
    let vault = |key: &str| McpVariable::Vault(key.to_owned());
    let own = || program("a", "b", literal("c"));
    assert!(own().is_same(&own()));
    assert!(program("a", "b", vault("c")).is_same(&program("a", "b", vault("c"))));
    let at = |url: &str, value: &str| McpServer::Url {
        url: Url::parse(url).unwrap(),
        headers: BTreeMap::from([("a".to_owned(), SecretString::from(value))]),
    };
    assert!(at("http://h", "1").is_same(&at("http://h", "1")));
    assert!(!at("http://h", "1").is_same(&at("http://h", "2")));
    assert!(!at("http://h", "1").is_same(&at("http://i", "1")));
    assert!(!at("http://h", "1").is_same(&McpServer::at(Url::parse("http://h").unwrap())));
    for other in [
        program("x", "b", literal("c")),
        program("a", "x", literal("c")),
        program("a", "b", literal("x")),
        program("a", "b", vault("c")),
    ] {
        assert!(!own().is_same(&other));
    }
}
