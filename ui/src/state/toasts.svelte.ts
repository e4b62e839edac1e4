// Toasts, announced by screen readers. They disappear after some seconds, except for errors and toasts with `stays`.
import { isFailure } from '../client/failure';

export interface Toast {
  id: number;
  kind: 'good' | 'bad' | 'info';
  text: string;
  /** An action to offer, such as undo. */
  action?: { label: string; run: () => void };
  /**
   * Whether the toast stays until the user dismisses it or more than `TOASTS_MAX` such toasts
   * exist.
   */
  stays?: boolean;
}

interface Options {
  kind?: Toast['kind'];
  action?: Toast['action'];
  stays?: boolean;
}

export const toasts = $state<Toast[]>([]);

/** With more toasts, the oldest toast without `stays` is removed. */
export const TOASTS_MAX = 4;
const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;
let next = 1;

/** Shows a toast and returns its ID, for `dismiss`. */
export function toast(text: string, options: Options = {}): number {
  const id = next++;
  const kind = options.kind ?? 'good';
  const one: Toast = { id, kind, text };
  if (options.action) one.action = options.action;
  if (options.stays) one.stays = true;
  toasts.push(one);
  if (toasts.length > TOASTS_MAX) {
    const at = toasts.slice(0, -1).findIndex((each) => !each.stays);
    toasts.splice(Math.max(at, 0), 1);
  }
  if (kind !== 'bad' && !one.stays) setTimeout(() => dismiss(id), options.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
  return id;
}

/** Shows the gateway's message for a failed call. Rethrows anything else. */
export function toastFailure(error: unknown): void {
  if (isFailure(error)) toast(error.message, { kind: 'bad' });
  else throw error;
}

/**
 * Runs the action of a toast. A toast with `stays` remains, because its action may be refused, such as a change of the
 * page.
 */
export function act(one: Toast): void {
  if (!one.stays) dismiss(one.id);
  one.action?.run();
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
