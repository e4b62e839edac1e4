// The form of an MCP server as parameters of the API. Pure functions.
import type { McpServer } from '../../../client/generated/rpc';
import type { Params } from '../../../client/rpc';

/** The parts of a server whose values the gateway does not return. */
export type Hidden = 'args' | 'env' | 'headers';

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
  /** Which stored parts are kept unchanged. */
  keeps: Readonly<Record<Hidden, boolean>>;
}

export const EMPTY: Draft = {
  name: '',
  kind: 'program',
  command: '',
  args: '',
  env: '',
  url: '',
  headers: '',
  keeps: { args: false, env: false, headers: false },
};

const HIDDEN: Record<Draft['kind'], readonly Hidden[]> = { program: ['args', 'env'], url: ['headers'] };

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
export function paramsOf({ name, kind, command, args, env, url, headers }: Draft): Params<'mcp.create'> | null {
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

const storedIn = ({ args_count, env, headers }: McpServer): Record<Hidden, boolean> => ({
  args: (args_count ?? 0) > 0,
  env: (env ?? []).length > 0,
  headers: (headers ?? []).length > 0,
});

/** Returns the form of an existing server. It keeps the values that the gateway does not return. */
export const draftOf = (server: McpServer): Draft => ({
  ...EMPTY,
  name: server.name,
  kind: server.url ? 'url' : 'program',
  command: server.command ?? '',
  url: server.url ?? '',
  keeps: storedIn(server),
});

/**
 * Returns whether the origin of the URL differs from the server's. The gateway does not send the stored headers to
 * another origin.
 */
export const moves = ({ kind, url }: Draft, server: McpServer): boolean =>
  kind === 'url' && !!server.url && URL.canParse(url) && new URL(url).origin !== new URL(server.url).origin;

/** Whether the form names another program or URL than the server's. */
export const isOther = (draft: Draft, { command, url }: McpServer): boolean =>
  draft.kind === 'url' ? draft.url.trim() !== url : draft.command.trim() !== command;

/** Returns whether the form changes a program to a URL or the reverse and thereby deletes parts of the server. */
export const losesParts = (draft: Draft, server: McpServer): boolean =>
  draft.kind !== draftOf(server).kind && Object.values(storedIn(server)).some(Boolean);

/** The stored parts that can be kept: those of the same kind, except headers for another origin. */
export function keepable(draft: Draft, server: McpServer): Record<Hidden, boolean> {
  const stored = storedIn(server);
  const isProgram = draft.kind === 'program';
  return {
    args: stored.args && isProgram,
    env: stored.env && isProgram,
    headers: stored.headers && !isProgram && !moves(draft, server),
  };
}

/** Parameters of `mcp.update` with the changes only; null if the variables or headers cannot be read. */
export function changesOf(draft: Draft, server: McpServer): Params<'mcp.update'> | null {
  const can = keepable(draft, server);
  const isKept = (part: Hidden) => can[part] && draft.keeps[part];
  const text = (part: Hidden) => (isKept(part) ? '' : draft[part]);
  const typed = paramsOf({ ...draft, args: text('args'), env: text('env'), headers: text('headers') });
  if (!typed) return null;
  const stored = storedIn(server);
  const emptied = HIDDEN[draft.kind].filter((part) => stored[part] && !isKept(part) && !typed[part]);
  const { name, command, url, ...parts } = typed;
  return {
    name,
    ...(command !== undefined && command !== server.command ? { command } : {}),
    ...(url !== undefined && url !== server.url ? { url } : {}),
    ...parts,
    ...Object.fromEntries(emptied.map((part) => [part, null])),
  };
}
