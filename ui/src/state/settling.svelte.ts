// Guards against the second click of a double click. After an action, another record may move to the same place on the
// screen, with the same button under the pointer.

/** Longer than the time between the clicks of a double click. */
export const SETTLES_MS = 700;

let acted = $state<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Call this with the record's ID when the user acts on it. */
export function noteAction(id: string): void {
  acted = id;
  clearTimeout(timer);
  timer = setTimeout(() => (acted = null), SETTLES_MS);
}

/** Whether the user acted on another record a moment ago, in which case a click on this record may be unintended. */
export const isSettling = (id: string): boolean => acted !== null && acted !== id;
