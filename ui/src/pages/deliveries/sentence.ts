// Returns the outcome of a delivery as a sentence. Pure functions.
import { m } from '../../paraglide/messages.js';
import { targetName } from '../channels/names';
import { plainText } from '../chat/plainText';
import { reasonOf } from './reasons';
import type { Status } from './status';

interface Ended {
  status: Status;
  outcome?: string | null;
  target?: string | null;
  channel?: string | null;
  error?: string | null;
}

/**
 * Returns the outcome, or an empty text if there is none yet. `agent` is the name of the webhook's agent. Without an
 * agent, the text was sent to a channel unchanged. `channel` is the name of the channel at the time of sending.
 */
export function outcomeOf(delivery: Ended, agent: string | null): string {
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
