// Which audio was spoken just now, so that it plays by itself once: what comes to the conversation that is looked at when a turn ended.
import { socket } from '../../../client/socket';
import { place } from '../../../state/place.svelte';

const JUST_MS = 6_000;
const ended = new Map<string, number>();
/** Recordings of the person's own are no answers. */
const own = new Set<string>();

socket.on('chat.done', ({ session }) => {
  // One window speaks, not each that shows the conversation.
  if (place.path === `/chat/${session}` && document.hasFocus()) ended.set(session, Date.now());
});

export const isOwn = (audio_id: string): void => void own.add(audio_id);

/** Whether this was spoken just now; it is once. */
export function takeFresh(session: string, audio_id: string): boolean {
  const at = ended.get(session);
  if (at === undefined || own.has(audio_id)) return false;
  ended.delete(session);
  return Date.now() - at < JUST_MS;
}
