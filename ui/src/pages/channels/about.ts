// One-line descriptions and icons of the channel types.
import Bell from '@lucide/svelte/icons/bell';
import Globe from '@lucide/svelte/icons/globe';
import Hash from '@lucide/svelte/icons/hash';
import Mail from '@lucide/svelte/icons/mail';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Send from '@lucide/svelte/icons/send';
import { m } from '../../paraglide/messages.js';
import type { LucideIcon } from '../../parts/icon';

const LINES: Record<string, () => string> = {
  discord: m.channels_about_discord,
  email: m.channels_about_email,
  http: m.channels_about_http,
  inbox: m.channels_about_inbox,
  log: m.channels_about_log,
  matrix: m.channels_about_matrix,
  ntfy: m.channels_about_ntfy,
  slack: m.channels_about_slack,
  telegram: m.channels_about_telegram,
};

/** Empty for unknown types. */
export const about = (type: string): string => LINES[type]?.() ?? '';

const ICONS: Record<string, LucideIcon> = { email: Mail, http: Globe, inbox: Bell, log: ScrollText, slack: Hash };

/** For types without a vendor's mark. */
export const iconOf = (type: string): LucideIcon => ICONS[type] ?? Send;
