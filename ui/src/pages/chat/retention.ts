// How long conversations and their audio are kept.
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';
import { m } from '../../paraglide/messages.js';
import { number } from '../../parts/time';

const CONVERSATIONS = 'agents.retention_days';
const AUDIO = 'agents.audio_retention_days';

/** The number of days in the settings; 0 means no limit. */
export interface Retention {
  conversations: number;
  audio: number;
}

/** The settings; `null` if the gateway did not return both. */
export const retentionQuery = {
  queryKey: [...keys.config, 'agents retention'],
  queryFn: async (): Promise<Retention | null> => {
    const { values } = await rpc('config.get', { keys: [CONVERSATIONS, AUDIO] });
    const days = (key: string): unknown => values.find((value) => value.key === key)?.value;
    const [conversations, audio] = [days(CONVERSATIONS), days(AUDIO)];
    return typeof conversations === 'number' && typeof audio === 'number' ? { conversations, audio } : null;
  },
};

/**
 * Returns the text for an empty conversation. Without the settings, the text does not mention how
 * long it is kept.
 */
export function welcomeText(agent: string, kept: Retention | null | undefined): string {
  if (!kept) return m.chat_welcome_agent({ agent });
  const { conversations: count } = kept;
  const text =
    count === 0 ? m.chat_welcome_text({ agent }) : m.chat_welcome_days({ agent, count, shown: number(count) });
  const audio = audioText(kept);
  return audio === null ? text : `${text} ${audio}`;
}

/** Returns the note beside audio, or `null` if the audio is kept as long as its conversation. */
export function audioText(kept: Retention | null | undefined): string | null {
  const count = kept?.audio ?? 0;
  return count === 0 ? null : m.chat_audio_days({ count, shown: number(count) });
}
