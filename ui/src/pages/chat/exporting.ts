// Formats a conversation as a Markdown document. Pure except for `wholeHistory`.
import { CHAT_HISTORY_LIMIT_MAX } from '../../client/generated/limits';
import { rpc } from '../../client/rpc';
import { deliveryIn } from './deliveryMessage';
import type { Message } from './turns';

type Stored = Pick<Message, 'role' | 'origin' | 'content' | 'created_at' | 'tool' | 'tool_calls' | 'tool_status'>;

export interface Names {
  you: string;
  agent: string;
  delivery: string;
  /** How a tool call ended, by its status. */
  ended: Partial<Record<NonNullable<Message['tool_status']>, string>>;
}

/**
 * Returns the title, then each message with its author and time. Results of tools are code blocks.
 */
export function markdownOf(title: string, messages: readonly Stored[], names: Names): string {
  const parts = messages.flatMap((message) => {
    const { role, content, created_at: at } = message;
    if (role === 'system') return [];
    if (role === 'tool') {
      const ended = message.tool_status && names.ended[message.tool_status];
      return [`**${message.tool ?? ''}**${ended ? ` · ${ended}` : ''}\n\n${fenced(content)}`];
    }
    const who = role === 'assistant' ? names.agent : deliveryIn(message) ? names.delivery : names.you;
    const calls = (message.tool_calls ?? []).map((call) => `**${call.name}**\n\n${fenced(call.arguments)}`);
    return [[`## ${who} · ${at}`, content, ...calls].filter(Boolean).join('\n\n')];
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** All messages of a conversation, oldest first. */
export async function wholeHistory(session: string): Promise<Message[]> {
  const pages: Message[][] = [];
  let before: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof rpc<'chat.history'>>> = await rpc('chat.history', {
      session,
      limit: CHAT_HISTORY_LIMIT_MAX,
      before,
    });
    pages.unshift(page.messages);
    before = page.next_cursor ?? null;
  } while (before);
  return pages.flat();
}
