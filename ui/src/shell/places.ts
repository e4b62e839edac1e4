// The pages of the main navigation.
import Bell from '@lucide/svelte/icons/bell';
import Bot from '@lucide/svelte/icons/bot';
import LayoutDashboard from '@lucide/svelte/icons/layout-dashboard';
import MessageSquare from '@lucide/svelte/icons/message-square';
import PackageOpen from '@lucide/svelte/icons/package-open';
import Send from '@lucide/svelte/icons/send';
import Settings from '@lucide/svelte/icons/settings';
import Vault from '@lucide/svelte/icons/vault';
import Webhook from '@lucide/svelte/icons/webhook';
import { m } from '../paraglide/messages.js';
import type { LucideIcon } from '../parts/icon';

export interface Place {
  to: string;
  label: () => string;
  icon: LucideIcon;
}

/** The number of pages in the bar of a small screen. */
export const IN_BAR = 4;

/** The pages in the order of the navigation. */
export const PLACES: readonly Place[] = [
  { to: '/overview', label: m.shell_nav_overview, icon: LayoutDashboard },
  { to: '/chat', label: m.shell_nav_chat, icon: MessageSquare },
  { to: '/deliveries', label: m.shell_nav_deliveries, icon: PackageOpen },
  { to: '/inbox', label: m.shell_nav_inbox, icon: Bell },
  { to: '/webhooks', label: m.settings_webhooks, icon: Webhook },
  { to: '/agents', label: m.settings_agents, icon: Bot },
  { to: '/channels', label: m.settings_channels, icon: Send },
  { to: '/vault', label: m.settings_vault, icon: Vault },
  { to: '/settings', label: m.shell_nav_settings, icon: Settings },
];
