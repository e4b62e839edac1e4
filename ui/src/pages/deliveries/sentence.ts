// A delivery as a sentence: what happened, and the outcome. Pure functions.
import { m } from '../../paraglide/messages.js';
import { told } from '../../phrases/told.svelte';
import { targetName } from '../channels/names';
import { plainText } from '../chat/plainText';
import { reasonOf } from './reasons';
import type { Status } from './status';
import { subjectOf } from './subject';

interface Told {
  status: Status;
  event_type?: string | null;
  entity_key?: string | null;
  summary?: string | null;
  outcome?: string | null;
  target?: string | null;
  channel?: string | null;
  error?: string | null;
}

/** The webhook of a delivery. */
interface Receiver {
  name: string;
  source_profile: string;
}

/**
 * What happened: the gateway's sentence about the payload, or else the event and its subject. `webhook` is null if it
 * is not known.
 */
export function eventOf({ summary, event_type, entity_key }: Told, webhook: Receiver | null): string {
  if (summary) return told(summary, webhook?.source_profile ?? null);
  const subject = entity_key ? subjectOf(entity_key) : '';
  const request = webhook ? m.deliveries_request_to({ webhook: webhook.name }) : m.deliveries_request();
  return [event_type ?? request, subject].filter(Boolean).join(' ');
}

/**
 * The outcome; empty if there is none yet. `agent` is the name of the webhook's agent; without one, the text was sent
 * to a channel unchanged, and `channel` is the name of the channel at that time.
 */
export function outcomeOf(delivery: Told, agent: string | null): string {
  const { status, outcome, error } = delivery;
  if (error) return reasonOf(error).replaceAll('`', '');
  if (status === 'filtered') return m.deliveries_story_filtered();
  if (outcome) {
    const said = plainText(outcome);
    const who = delivery.channel ? targetName(delivery) : (agent ?? targetName(delivery));
    return who ? m.deliveries_said({ agent: who, said }) : said;
  }
  const target = targetName(delivery);
  return status === 'completed' && target ? m.deliveries_sent_to({ target }) : '';
}
