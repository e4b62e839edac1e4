// Readable names of browsers. This is a separate chunk, because the name table (bowser) is large.
import Bowser from 'bowser';
import { m } from '../../../paraglide/messages.js';

/** The name of a device from its user agent, such as "Firefox on Linux"; the raw text if it is unknown. */
export function deviceName(userAgent: string): string {
  if (!userAgent.trim()) return m.security_device_unknown();
  const { browser, os } = Bowser.parse(userAgent);
  if (browser.name && os.name) return m.security_device_name({ browser: browser.name, system: os.name });
  return browser.name || userAgent;
}

/** Whether the device is a phone or tablet. */
export const isHandheld = (userAgent: string): boolean =>
  userAgent.trim() !== '' && ['mobile', 'tablet'].includes(Bowser.parse(userAgent).platform.type ?? '');
