// Ensures that only one sound plays on the page at a time.
interface Sound {
  pause(): void;
}

let current: Sound | null = null;

/** Registers `audio` as playing and pauses the previous one. */
export function plays(audio: Sound): void {
  if (current !== audio) current?.pause();
  current = audio;
}

/** Stops `audio`. Call this when its element is removed. */
export function gone(audio: Sound): void {
  audio.pause();
  if (current === audio) current = null;
}
