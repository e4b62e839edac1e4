// Guards against the second click of a double click: after an action, another record may take the place of the first
// on the screen, with the same button under the pointer.

/** Longer than the time between the clicks of a double click. */
export const SETTLES_MS = 700;

let acted = $state<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Call it when the user acts on a record, with its ID. */
export function noteAction(id: string): void {
  acted = id;
  clearTimeout(timer);
  timer = setTimeout(() => (acted = null), SETTLES_MS);
}

/** Whether the user acted on another record a moment ago, so that a click on this one may be unintended. */
export const isSettling = (id: string): boolean => acted !== null && acted !== id;
