// Toasts, announced by screen readers. They disappear after some seconds, except for errors.
import { isFailure } from '../client/failure';

export interface Toast {
  id: number;
  kind: 'good' | 'bad' | 'info';
  text: string;
  /** An action to offer, such as undo. */
  action?: { label: string; run: () => void };
}

export const toasts = $state<Toast[]>([]);

const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;
let next = 1;

export function toast(text: string, options: { kind?: Toast['kind']; action?: Toast['action'] } = {}): void {
  const id = next++;
  const kind = options.kind ?? 'good';
  const one: Toast = { id, kind, text };
  if (options.action) one.action = options.action;
  toasts.push(one);
  if (toasts.length > 4) toasts.shift();
  if (kind !== 'bad') setTimeout(() => dismiss(id), options.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

/** Shows the gateway's message for a failed call. Rethrows anything else. */
export function toastFailure(error: unknown): void {
  if (isFailure(error)) toast(error.message, { kind: 'bad' });
  else throw error;
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((one) => one.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
