// The form of an MCP server as parameters of the API. Pure functions.

export interface Draft {
  name: string;
  kind: 'program' | 'url';
  command: string;
  /** One argument per line. */
  args: string;
  /** One variable per line: `NAME=text`, or `NAME=vault:KEY` for a value of the vault. */
  env: string;
  url: string;
}

export const EMPTY: Draft = { name: '', kind: 'program', command: '', args: '', env: '', url: '' };

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The variables; null if a line is not `NAME=value`. */
export function variablesOf(text: string): Record<string, string | { vault: string }> | null {
  const found: [string, string | { vault: string }][] = [];
  for (const line of lines(text)) {
    const [, name, value = ''] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line) ?? [];
    if (!name) return null;
    const key = /^vault:(.+)$/.exec(value)?.[1];
    found.push([name, key ? { vault: key.trim() } : value]);
  }
  return Object.fromEntries(found);
}

/** Parameters of `mcp.create`; null if the variables cannot be read. */
export function paramsOf({ name, kind, command, args, env, url }: Draft) {
  if (kind === 'url') return { name: name.trim(), url: url.trim() };
  const variables = variablesOf(env);
  if (!variables) return null;
  return {
    name: name.trim(),
    command: command.trim(),
    ...(lines(args).length > 0 ? { args: lines(args) } : {}),
    ...(Object.keys(variables).length > 0 ? { env: variables } : {}),
  };
}
