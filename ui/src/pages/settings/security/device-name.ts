// What a browser calls itself, in words: "Firefox on Linux". A chunk of its own, because of the table of names (bowser).
import Bowser from 'bowser';
import { m } from '../../../paraglide/messages.js';

/** The name of a device by its user agent; the raw text where nothing is recognised. */
export function deviceName(userAgent: string): string {
  if (!userAgent.trim()) return m.security_device_unknown();
  const { browser, os } = Bowser.parse(userAgent);
  if (browser.name && os.name) return m.security_device_name({ browser: browser.name, system: os.name });
  return browser.name || userAgent;
}

/** Whether it fits into a hand. */
export const isHandheld = (userAgent: string): boolean =>
  userAgent.trim() !== '' && ['mobile', 'tablet'].includes(Bowser.parse(userAgent).platform.type ?? '');
