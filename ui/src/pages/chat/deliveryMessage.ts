// Reads the message that the gateway composes for a webhook delivery (`crates/webhooks/src/message.rs`).
import type { Message } from './turns';

export interface DeliveryMessage {
  id: string;
  webhook: string;
  event: string;
  /** The profile of the webhook. */
  source: string;
  /** The first line, which describes the event, with the title of its subject. */
  sentence: string;
  /** The other lines of the summary. */
  details: string;
  /** Whether the payload was edited for a replay. */
  isEdited: boolean;
}

const HEAD =
  /^Webhook delivery received\.\nWebhook: (.*) \([^()\n]*\)\nSource: (\w+)\nEvent: (.*)\nDelivery: (del_\w+)\nReceived: .*\n(Payload: edited .*\n)?---\n.*\n(`{3,})\n/;

/** A line with the title of the subject: `Title: Faster` or `Pull request: #42 Faster`. */
const TITLE = /^(?:(?:Title|Subject):|[A-Z][a-z ]*: [#!]\d+) (.+)$/;

/** Adds the title of the subject to a sentence, as the gateway does in the list of deliveries. */
function withTitle(sentence: string, lines: readonly string[]): string {
  const title = lines.map((line) => TITLE.exec(line)?.[1]).find((found) => found && found !== '(no title)');
  if (!title || !sentence.endsWith('.') || sentence.includes(title)) return sentence;
  return `${sentence.replace(/\.+$/, '')}: ${title}`;
}

/** Returns the delivery in a message, or null if a person wrote the message. */
export function deliveryIn({ content, origin }: Pick<Message, 'content' | 'origin'>): DeliveryMessage | null {
  if (origin !== 'stranger') return null;
  const head = HEAD.exec(content);
  const [, webhook, source, event, id, edited, fence] = head ?? [];
  if (!head || webhook === undefined || !source || event === undefined || !id || !fence) return null;
  const begin = head[0].length;
  const end = content.indexOf(`\n${fence}\n---\n`, begin);
  if (end < 0) return null;
  const [sentence = '', ...details] = content.slice(begin, end).split('\n');
  return {
    id,
    webhook,
    source,
    event: event === 'unknown' ? '' : event,
    sentence: withTitle(sentence.trim(), details),
    details: details.join('\n'),
    isEdited: edited !== undefined,
  };
}
