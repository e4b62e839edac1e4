// Icons of the channel types.
import Bell from '@lucide/svelte/icons/bell';
import Globe from '@lucide/svelte/icons/globe';
import Hash from '@lucide/svelte/icons/hash';
import Mail from '@lucide/svelte/icons/mail';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Send from '@lucide/svelte/icons/send';
import type { LucideIcon } from '../../parts/icon';

const ICONS: Record<string, LucideIcon> = { email: Mail, http: Globe, inbox: Bell, log: ScrollText, slack: Hash };

/** For types without a vendor's mark. */
export const iconOf = (type: string): LucideIcon => ICONS[type] ?? Send;
