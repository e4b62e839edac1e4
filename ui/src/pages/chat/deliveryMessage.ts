// Reads the message that the gateway composes for a webhook delivery (`crates/webhooks/src/message.rs`).
import type { Message } from './turns';

export interface DeliveryMessage {
  id: string;
  webhook: string;
  event: string;
  /** The profile of the webhook. */
  source: string;
  /** What happened, in the first line. */
  sentence: string;
  /** The further lines of the summary. */
  details: string;
}

const HEAD =
  /^Webhook delivery received\.\nWebhook: (.*) \([^()\n]*\)\nSource: (\w+)\nEvent: (.*)\nDelivery: (del_\w+)\nReceived: .*\n---\n.*\n(`{3,})\n/;

/** The delivery in a message; null if a person wrote it. */
export function deliveryIn({ content, origin }: Pick<Message, 'content' | 'origin'>): DeliveryMessage | null {
  if (origin !== 'stranger') return null;
  const head = HEAD.exec(content);
  const [, webhook, source, event, id, fence] = head ?? [];
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
    sentence: sentence.trim(),
    details: details.join('\n'),
  };
}
