// Finds suggestions for the text before the cursor: `/` at the start for prompts and commands, `@` for an agent.

export interface Wanted {
  sign: '/' | '@';
  /** The text after `/` or `@`. */
  q: string;
  /** The index of the sign in the text. */
  from: number;
  to: number;
}

/** Returns the request for suggestions at the cursor, or null if there is none. */
export function wantedAt(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command) return { sign: '/', q: command[1] ?? '', from: 0, to: before.length };
  const mention = /(?:^|\s)@([^\s@]*)$/.exec(before);
  const q = mention?.[1];
  return q === undefined ? null : { sign: '@', q, from: before.length - q.length - 1, to: before.length };
}

export interface Suggestion {
  key: string;
  label: string;
  hint?: string;
  run: () => void;
}

/**
 * Returns the suggestions whose label contains the text. Labels that begin with the text come
 * first.
 */
export function matching(all: readonly Suggestion[], q: string): Suggestion[] {
  const wanted = q.toLowerCase();
  const starts = ({ label }: Suggestion) => Number(!label.toLowerCase().startsWith(wanted));
  return all.filter(({ label }) => label.toLowerCase().includes(wanted)).toSorted((a, b) => starts(a) - starts(b));
}
