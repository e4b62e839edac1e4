// Ends what is being spoken when the user sends, stops or types. The player is in a chunk of its own and registers
// here when it is loaded.

const listeners = new Set<() => void>();

/** Registers a player of spoken answers. */
export const onQuiet = (stop: () => void): void => void listeners.add(stop);

/** Ends what is being spoken in this window. */
export function quiet(): void {
  for (const stop of listeners) stop();
}
