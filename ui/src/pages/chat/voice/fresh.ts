// Tracks new spoken answers in the visible conversation, which play automatically once after a turn.
import { socket } from '../../../client/socket';
import { place } from '../../../state/place.svelte';

const JUST_MS = 6_000;
const ended = new Map<string, number>();
/** The user's own recordings, which are not answers. */
const own = new Set<string>();

socket.on('chat.done', ({ session }) => {
  // Only the focused window speaks, even if several show the conversation.
  if (place.path === `/chat/${session}` && document.hasFocus()) ended.set(session, Date.now());
});

export const isOwn = (audio_id: string): void => void own.add(audio_id);

/** Whether this audio is a new spoken answer. Returns true only once per turn. */
export function takeFresh(session: string, audio_id: string): boolean {
  const at = ended.get(session);
  if (at === undefined || own.has(audio_id)) return false;
  ended.delete(session);
  return Date.now() - at < JUST_MS;
}
