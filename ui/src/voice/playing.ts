// Ensures that only one sound plays on the page at a time.
let current: HTMLAudioElement | null = null;

/** Registers `audio` as playing and pauses the previous one. */
export function plays(audio: HTMLAudioElement): void {
  if (current !== audio) current?.pause();
  current = audio;
}

/** Stops `audio`; call it when its element is removed. */
export function gone(audio: HTMLAudioElement): void {
  audio.pause();
  if (current === audio) current = null;
}
