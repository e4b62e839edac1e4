// Whether this browser notifies the user while no window of the app is in view.
import { offline } from '../client/failure';
import { moduleOrNull } from '../client/module';
import type { Pushed } from './push';

/** `blocked`: the user refused the permission. */
export type AlertState = 'unsupported' | 'blocked' | 'off' | 'on';

const KEY = 'gatehouse.alerts';

/** `pushed` is null until a subscription at the push service was attempted. */
export const alerts = $state<{ state: AlertState; pushed: Pushed | null }>({ state: current(), pushed: null });

// Another window changed it.
addEventListener('storage', ({ key }) => {
  if (key === KEY) alerts.state = current();
});

/** Asks for the permission if necessary. Call it from a click: browsers ignore other requests. */
export async function turnAlertsOn(): Promise<void> {
  if ((await Notification.requestPermission()) === 'granted') store('on');
  alerts.state = current();
}

/** Throws a `Failure` if the gateway did not end the subscription. */
export async function turnAlertsOff(): Promise<void> {
  forgetAlerts();
  const loaded = await moduleOrNull(() => import('./push'));
  if (!loaded) throw offline();
  await loaded.stopPush();
}

/** Turns the notifications off without a message to the gateway. */
export function forgetAlerts(): void {
  store(null);
  alerts.state = current();
  alerts.pushed = null;
}

function current(): AlertState {
  if (!isSecureContext || !('Notification' in window) || !('locks' in navigator)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && stored() === 'on' ? 'on' : 'off';
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function store(value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, value);
  } catch {
    // Storage is disabled, so notifications stay off.
  }
}
