//! The settings of MCP servers.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "mcp.servers.<id>.command",
        kind: Kind::Text(Rule::Argument),
        default: Initial::Unset,
        doc: "A program that speaks MCP over standard input and output. It runs without a shell.",
        example: "\"mcp-files\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "mcp.servers.<id>.args",
        kind: Kind::List(Rule::SecretArgument),
        default: Initial::Unset,
        doc: "The program's arguments. They are never returned, because they often contain tokens.",
        example: "[\"stdio\"]",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "mcp.servers.<id>.env",
        kind: Kind::Variables,
        default: Initial::Unset,
        doc: "Environment variables for the program, which otherwise receives only PATH, HOME, \
              LANG and TZ. A value is a string, or { vault = \"KEY\" } for an environment \
              variable in the vault. Variables that control what a program runs, such as \
              NODE_OPTIONS, accept only a string.",
        example: "{ LOG_LEVEL = \"info\", GITHUB_TOKEN = { vault = \"GITHUB_TOKEN\" } }",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "mcp.servers.<id>.url",
        kind: Kind::Text(Rule::WebUrl),
        default: Initial::Unset,
        doc: "Instead of a program: the URL of a server that speaks MCP over streamable HTTP. If \
              the vault has an environment variable MCP_<NAME>_TOKEN set for this URL, it is \
              sent as the bearer token.",
        example: "\"https://mcp.example.com/mcp\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "mcp.servers.<id>.headers",
        kind: Kind::Headers,
        default: Initial::Unset,
        doc: "Additional HTTP headers for every request to the URL. In their values, and in the \
              URL's path, {{secret:NAME}} stands for an environment variable in the vault that \
              tools.secrets allows for the URL's host. Their values are never returned, and they \
              do not follow a URL that was changed at run time.",
        example: "{ \"x-api-key\" = \"{{secret:EXAMPLE_KEY}}\" }",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];
