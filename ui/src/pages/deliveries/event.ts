// Returns a sentence about the event of a delivery.
import { m } from '../../paraglide/messages.js';
import { deliverySentence } from '../../phrases/delivery-sentence.svelte';
import { subjectOf } from './subject';

interface Summarized {
  event_type?: string | null;
  entity_key?: string | null;
  summary?: string | null;
}

/** The webhook of a delivery. */
interface Receiver {
  name: string;
  source_profile: string;
}

/**
 * Returns the gateway's sentence about the payload, or else the event and its subject. `webhook` is null if it is
 * unknown.
 */
export function eventOf({ summary, event_type, entity_key }: Summarized, webhook: Receiver | null): string {
  if (summary) return deliverySentence(summary, webhook?.source_profile ?? null);
  const subject = entity_key ? subjectOf(entity_key) : '';
  const request = webhook ? m.deliveries_request_to({ webhook: webhook.name }) : m.deliveries_request();
  return [event_type ?? request, subject].filter(Boolean).join(' ');
}
