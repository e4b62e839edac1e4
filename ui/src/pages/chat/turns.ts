// Groups stored messages into turns: a question and its answer.
import type { EventParams } from '../../client/rpc';

export type Message = EventParams<'chat.message'>;

/** A tool call and its output, if it has arrived. */
export interface Call {
  id: string;
  name: string;
  arguments: string;
  output: Message | null;
  /** When the message before the output was stored. */
  before: string;
}

export type Part =
  | { kind: 'reasoning'; key: string; text: string }
  | { kind: 'text'; key: string; message: Message }
  | { kind: 'call'; key: string; call: Call };

export interface Turn {
  id: string;
  /** The question, or `null` while it is on an older page that is not loaded. */
  question: Message | null;
  parts: Part[];
  /** The agent has given its final answer. */
  answered: boolean;
  /** Why the turn ended, and what failed; `null` while it runs. */
  end: Pick<Message, 'stop' | 'error'> | null;
  began_at: string;
  messages: readonly Message[];
  last: Message | null;
}

/**
 * Groups messages into turns, in order. Reuses unchanged turns from `before` to prevent unnecessary
 * rendering.
 */
export function turnsOf(messages: readonly Message[], before: readonly Turn[] = []): Turn[] {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const group = groups.get(message.turn_id);
    if (group) group.push(message);
    else groups.set(message.turn_id, [message]);
  }
  const known = new Map(before.map((turn) => [turn.id, turn]));
  return [...groups].map(([id, group]) => {
    const old = known.get(id);
    return old && isSame(old.messages, group) ? old : turnOf(id, group);
  });
}

/** A message is replaced when its speech was recorded or interrupted, even if it is not the last one of its turn. */
const isSame = (before: readonly Message[], now: readonly Message[]): boolean =>
  before.length === now.length && before.every((message, at) => message === now[at]);

function turnOf(id: string, group: Message[]): Turn {
  const question = group.find((message) => message.role === 'user') ?? null;
  const outputs = group.filter((message) => message.role === 'tool');
  const parts: Part[] = [];
  const taken = new Set<Message>();
  for (const message of group) {
    if (message.role !== 'assistant') continue;
    if (message.reasoning) parts.push({ kind: 'reasoning', key: `${message.id} reasoning`, text: message.reasoning });
    if (message.content.trim()) parts.push({ kind: 'text', key: message.id, message });
    for (const call of message.tool_calls ?? []) {
      // Providers may reuse a call ID in a later answer of the same turn.
      const output = outputs.find((one) => one.tool_call_id === call.id && !taken.has(one)) ?? null;
      if (output) taken.add(output);
      const before = output ? (group[group.indexOf(output) - 1] ?? message) : message;
      const { created_at } = before;
      parts.push({ kind: 'call', key: `${message.id} ${call.id}`, call: { ...call, output, before: created_at } });
    }
  }
  const last = group.at(-1);
  return {
    id,
    question,
    parts,
    end: last?.stop ? { stop: last.stop, error: last.error } : null,
    answered: last?.role === 'assistant' && !last.tool_calls?.length,
    began_at: group[0]?.created_at ?? '',
    messages: group,
    last: last ?? null,
  };
}

/** The agent's text in a turn, for copying. */
export const textOf = (turn: Turn): string =>
  turn.parts.flatMap((part) => (part.kind === 'text' ? [part.message.content] : [])).join('\n\n');

/** Appends a newer page. `arrived` contains IDs of messages received by event since the request. */
export function merge(
  there: readonly Message[],
  page: readonly Message[],
  arrived: ReadonlySet<string>,
): { messages: Message[]; keepsOlder: boolean } {
  const ids = new Set(page.map((message) => message.id));
  const overlap = there.findIndex((message) => ids.has(message.id));
  const older = overlap > 0 ? there.slice(0, overlap) : [];
  const newer = there.filter((message) => arrived.has(message.id) && !ids.has(message.id));
  return { messages: [...older, ...page, ...newer], keepsOlder: overlap > 0 };
}
