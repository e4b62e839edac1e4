// Renders a template for the preview: `{a.b.0}` becomes that value of the payload. Follows
// docs/API-webhooks.md, "Templates", except for the escaping that some channels need.

const MAX_RAW_CHARS = 4000;
const MAX_JSON_CHARS = 2000;

/** A number in its original spelling: `1.50` stays `1.50`. */
class Written {
  constructor(readonly text: string) {}
}

/** Parses a payload. Throws a `SyntaxError`. */
export function parsePayload(text: string): unknown {
  // Newer browsers provide a value's source text; others reformat numbers.
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? new Written(context.source) : value;
  return JSON.parse(text, keep as (this: unknown, key: string, value: unknown) => unknown);
}

/** Renders a template. Placeholders without a value stay unchanged. */
export function render(template: string, payload: unknown): string {
  let out = '';
  let rest = template;
  for (;;) {
    const open = rest.indexOf('{');
    if (open < 0) return out + rest;
    out += rest.slice(0, open);
    const inside = rest.slice(open + 1);
    const end = inside.search(/[{}]/);
    if (end < 0) return out + rest.slice(open);
    const key = inside.slice(0, end);
    if (inside[end] === '{') {
      out += `{${key}`;
      rest = inside.slice(end);
      continue;
    }
    out += inserted(payload, key) ?? `{${key}}`;
    rest = inside.slice(end + 1);
  }
}

/** The text for a placeholder; null if the payload has no such value. */
export function inserted(payload: unknown, key: string): string | null {
  if (key === '__raw__') return cut(write(payload, 2), MAX_RAW_CHARS);
  if (key === '') return null;
  let at: unknown = payload;
  for (const step of key.split('.')) {
    at = member(at, step);
    if (at === undefined) return null;
  }
  if (typeof at === 'string') return at;
  return isLeaf(at) ? write(at, 0) : cut(write(at, 0), MAX_JSON_CHARS);
}

function member(of: unknown, key: string): unknown {
  if (Array.isArray(of)) return /^(0|[1-9]\d*)$/.test(key) ? (of as unknown[])[Number(key)] : undefined;
  if (isLeaf(of)) return undefined;
  return Object.hasOwn(of as object, key) ? (of as Record<string, unknown>)[key] : undefined;
}

const isLeaf = (value: unknown): boolean => value === null || typeof value !== 'object' || value instanceof Written;

const cut = (text: string, characters: number): string =>
  text.length <= characters ? text : Array.from(text).slice(0, characters).join('');

function write(value: unknown, indent: number, depth = 0): string {
  if (value instanceof Written) return value.text;
  if (isLeaf(value)) return JSON.stringify(value);
  const line = (at: number) => (indent ? `\n${' '.repeat(indent * at)}` : '');
  const pieces = Array.isArray(value)
    ? value.map((one) => write(one, indent, depth + 1))
    : Object.entries(value as object).map(
        ([key, one]) => `${JSON.stringify(key)}:${indent ? ' ' : ''}${write(one, indent, depth + 1)}`,
      );
  const [start, end] = Array.isArray(value) ? '[]' : '{}';
  if (pieces.length === 0) return `${start}${end}`;
  return `${start}${pieces.map((piece) => line(depth + 1) + piece).join(',')}${line(depth)}${end}`;
}

/** A field of a payload and its value as text. */
export interface Variable {
  path: string;
  value: string;
}

/** The payload fields that a template can use, at most `most`. */
export function variables(payload: unknown, most = 60): Variable[] {
  const found: Variable[] = [];
  const walk = (value: unknown, path: string): void => {
    if (found.length >= most) return;
    if (isLeaf(value)) {
      if (path) found.push({ path, value: inserted(payload, path) ?? '' });
      return;
    }
    for (const [key, one] of Object.entries(value as object)) {
      // Placeholders cannot express names with dots or braces.
      if (!/[.{}]/.test(key)) walk(one, path ? `${path}.${key}` : key);
    }
  };
  walk(payload, '');
  return found;
}
