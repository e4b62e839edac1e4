// The tool calls that wait for the user's approval: how many, for the navigation, the document title and the app's icon,
// and which one was answered last.
import type { EventParams } from '../client/rpc';

export type Approval = EventParams<'approval.requested'>;

export const waiting = $state<{ count: number }>({ count: 0 });

/** Longer than the time between the clicks of a double click. */
export const SETTLES_MS = 700;

let answered = $state<string | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Call it when the user answers a call. The next one then takes its place on the screen. */
export function noteAnswer(id: string): void {
  answered = id;
  clearTimeout(timer);
  timer = setTimeout(() => (answered = null), SETTLES_MS);
}

/** Whether a call cannot be answered yet: the second click of a double click would answer it unread. */
export const isSettling = (id: string): boolean => answered !== null && answered !== id;
