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
  /** One header per line: `Name: value`. */
  headers: string;
}

export const EMPTY: Draft = { name: '', kind: 'program', command: '', args: '', env: '', url: '', headers: '' };

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

/** The headers; null if a line is not `Name: value`. */
export function headersOf(text: string): Record<string, string> | null {
  const found = lines(text).map((line) => /^([^\s:]+)\s*:\s*(.+)$/.exec(line));
  if (found.includes(null)) return null;
  return Object.fromEntries(found.map((parts) => [parts?.[1] ?? '', parts?.[2] ?? '']));
}

/** Parameters of `mcp.create`; null if the variables or headers cannot be read. */
export function paramsOf({ name, kind, command, args, env, url, headers }: Draft) {
  if (kind === 'url') {
    const named = headersOf(headers);
    if (!named) return null;
    return { name: name.trim(), url: url.trim(), ...(Object.keys(named).length > 0 ? { headers: named } : {}) };
  }
  const variables = variablesOf(env);
  if (!variables) return null;
  return {
    name: name.trim(),
    command: command.trim(),
    ...(lines(args).length > 0 ? { args: lines(args) } : {}),
    ...(Object.keys(variables).length > 0 ? { env: variables } : {}),
  };
}
