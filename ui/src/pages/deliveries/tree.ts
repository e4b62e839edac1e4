// A payload as collapsible lines. Only open branches produce lines, and long branches are split into groups of 100. A
// payload of 1 MiB therefore costs no more than its visible part. Pure functions.

export type Path = readonly (string | number)[];

export interface Line {
  id: string;
  depth: number;
  /** The key or index; null for the root and for groups. */
  label: string | number | null;
  path: Path;
  value: unknown;
  /** Number of children; 0 for a plain value. */
  size: number;
  kind: 'object' | 'array' | 'group' | 'value';
  open: boolean;
  /** The children in a group, as start and exclusive end. */
  range?: readonly [number, number];
}

/** A number that JavaScript cannot represent exactly. It is shown as it was sent. */
export class ExactNumber {
  constructor(readonly text: string) {}
}

const GROUP = 100;
const SEPARATOR = '\u0000';

export const idOf = (path: Path): string => path.join(SEPARATOR);
const groupId = (path: Path, from: number, to: number): string => `${idOf(path)}${SEPARATOR}#${from}-${to}`;

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber);

const keysOf = (value: object): (string | number)[] =>
  Array.isArray(value) ? Array.from(value.keys()) : Object.keys(value);

const childOf = (value: object, key: string | number): unknown => (value as Record<string | number, unknown>)[key];

/** Returns the number of children per group: the smallest power of 100 with at most 100 groups. */
function stepOf(count: number): number {
  let step = 1;
  while (count / step > GROUP) step *= GROUP;
  return step;
}

/** The visible lines, from the top. */
export function linesOf(root: unknown, open: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  const add = (value: unknown, label: Line['label'], path: Path, depth: number): void => {
    const id = idOf(path);
    if (!isBranch(value)) {
      lines.push({ id, depth, label, path, value, size: 0, kind: 'value', open: false });
      return;
    }
    const keys = keysOf(value);
    const isOpen = open.has(id);
    const kind = Array.isArray(value) ? 'array' : 'object';
    lines.push({ id, depth, label, path, value, size: keys.length, kind, open: isOpen });
    if (isOpen) run(value, keys, path, depth + 1, 0, keys.length);
  };
  const run = (parent: object, keys: Path, path: Path, depth: number, from: number, to: number): void => {
    const step = stepOf(to - from);
    if (step === 1) {
      for (const key of keys.slice(from, to)) add(childOf(parent, key), key, [...path, key], depth);
      return;
    }
    for (let begin = from; begin < to; begin += step) {
      const end = Math.min(begin + step, to);
      const id = groupId(path, begin, end);
      const isOpen = open.has(id);
      const range = [begin, end] as const;
      lines.push({
        id,
        depth,
        label: null,
        path,
        value: parent,
        size: end - begin,
        kind: 'group',
        open: isOpen,
        range,
      });
      if (isOpen) run(parent, keys, path, depth + 1, begin, end);
    }
  };
  add(root, null, [], 0);
  return lines;
}

/** IDs of the branches that must be open to show `path`. */
export function openFor(root: unknown, path: Path): string[] {
  const ids: string[] = [];
  let value = root;
  path.forEach((key, depth) => {
    if (!isBranch(value)) return;
    const above = path.slice(0, depth);
    ids.push(idOf(above));
    const keys = keysOf(value);
    const at = keys.indexOf(key);
    let [from, to] = [0, keys.length];
    for (let step = stepOf(to - from); step > 1; step = stepOf(to - from)) {
      from += Math.floor((at - from) / step) * step;
      to = Math.min(from + step, to);
      ids.push(groupId(above, from, to));
    }
    value = childOf(value, key);
  });
  return ids;
}

/**
 * Returns the initially open branches. Levels are opened one by one while the number of lines stays
 * within `budget`.
 */
export function openAtFirst(root: unknown, budget = 60): Set<string> {
  const open = new Set<string>();
  let level: { value: unknown; path: Path }[] = [{ value: root, path: [] }];
  let lines = 1;
  while (level.length > 0) {
    const next: typeof level = [];
    for (const { value, path } of level) {
      if (!isBranch(value)) continue;
      const keys = keysOf(value);
      if (keys.length === 0 || (path.length > 0 && lines + Math.min(keys.length, GROUP) > budget)) continue;
      open.add(idOf(path));
      lines += Math.min(keys.length, GROUP);
      if (keys.length > GROUP) continue;
      for (const key of keys) next.push({ value: childOf(value, key), path: [...path, key] });
    }
    level = next;
  }
  return open;
}

/**
 * Returns the paths of keys and plain values that contain `text`, in document order, at most `most`
 * paths.
 */
export function search(root: unknown, text: string, most = 500): Path[] {
  const wanted = text.toLowerCase();
  const found: Path[] = [];
  const look = (value: unknown, path: Path): void => {
    if (found.length >= most) return;
    const key = path.at(-1);
    const keyMatches = typeof key === 'string' && key.toLowerCase().includes(wanted);
    if (keyMatches || (!isBranch(value) && plain(value).toLowerCase().includes(wanted))) found.push(path);
    if (isBranch(value)) for (const child of keysOf(value)) look(childOf(value, child), [...path, child]);
  };
  if (wanted) look(root, []);
  return found;
}

/** A plain value as JSON. */
export const plain = (value: unknown): string => (value instanceof ExactNumber ? value.text : JSON.stringify(value));

/** A path in template syntax, such as `items.0.name`. */
export const nameOf = (path: Path): string => path.join('.');

interface Context {
  source?: string;
}

/**
 * Parses JSON. Keeps the source text of inexact numbers if the browser passes it to the reviver.
 */
export function parseExactly(text: string): unknown {
  // A reviver is slow, so it is used only if the text contains such a long number.
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const reviver = (_: string, value: unknown, context?: Context): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && context?.source && String(value) !== context.source
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}

/** Formats any part of a payload as indented JSON. */
export function write(value: unknown, indent = ''): string {
  if (!isBranch(value)) return plain(value);
  const keys = keysOf(value);
  const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (keys.length === 0) return begin + end;
  const deeper = `${indent}  `;
  const parts = keys.map((key) => {
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    return deeper + name + write(childOf(value, key), deeper);
  });
  return `${begin}\n${parts.join(',\n')}\n${indent}${end}`;
}
