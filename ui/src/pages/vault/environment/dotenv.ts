// Parses `KEY=value` lines as in `.env` files: comments, `export`, quotes, multi-line quoted values.

export interface Assignment {
  key: string;
  value: string;
}

const ASSIGNMENT = /^\s*(?:export\s+)?([^\s=#]+)\s*=\s*/;
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/**
 * Returns the assignments, keeping the last one of each key, and the 1-based numbers of invalid
 * lines.
 */
export function readAssignments(text: string): { assignments: Assignment[]; unread: number[] } {
  const found = new Map<string, string>();
  const unread: number[] = [];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const start = ASSIGNMENT.exec(line);
    const key = start?.[1];
    if (!start || !key) {
      unread.push(at + 1);
      continue;
    }
    const rest = line.slice(start[0].length);
    const quote = rest[0];
    if (quote !== '"' && quote !== "'") {
      set(key, rest.replace(/\s+#.*$/, '').trim());
      continue;
    }
    let whole = rest;
    let last = at;
    while (end(whole, quote) < 0 && last + 1 < lines.length) whole += `\n${lines[++last] ?? ''}`;
    const closed = end(whole, quote);
    if (closed < 0) {
      unread.push(at + 1);
      continue;
    }
    at = last;
    const inside = whole.slice(1, closed);
    set(key, quote === "'" ? inside : inside.replace(/\\([\s\S])/g, (all, c: string) => ESCAPES[c] ?? all));
  }
  function set(key: string, value: string) {
    found.delete(key);
    found.set(key, value);
  }
  return { assignments: [...found].map(([key, value]) => ({ key, value })), unread };
}

/** Returns the index of the closing quote, or -1. */
function end(text: string, quote: string): number {
  for (let at = 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

/** Whether a pasted text contains an assignment, as opposed to a name. */
export const isBlock = (text: string): boolean => /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=/m.test(text);
