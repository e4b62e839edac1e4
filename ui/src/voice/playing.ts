// What plays: one sound at a time on the whole page.
let current: HTMLAudioElement | null = null;

/** Says that this one plays now; whatever played before pauses. */
export function plays(audio: HTMLAudioElement): void {
  if (current !== audio) current?.pause();
  current = audio;
}

/** Lets go of one that is taken from the page. */
export function gone(audio: HTMLAudioElement): void {
  audio.pause();
  if (current === audio) current = null;
}
