// Connects the conversation with the player of spoken answers. The player is a separate chunk that loads when the
// browser is idle, so an answer can begin before the player is loaded.
import type { EventParams } from '../../client/rpc';
import { socket } from '../../client/socket';

type Part = EventParams<'chat.audio'>;

interface SpeechPlayer {
  hear: (part: Part) => void;
  stop: () => void;
}

let player: SpeechPlayer | null = null;
/** Parts that arrived before the player. */
let early: Part[] = [];

socket.on('chat.audio', (part) => {
  if (player) player.hear(part);
  else early.push(part);
});

/** Registers the player and passes it the parts that have already arrived. */
export function setSpeechPlayer(loaded: SpeechPlayer): void {
  player = loaded;
  const parts = early;
  early = [];
  for (const part of parts) loaded.hear(part);
}

/** Stops the speech in this window when the user sends a message, stops the answer or types. */
export function quiet(): void {
  early = [];
  player?.stop();
}
