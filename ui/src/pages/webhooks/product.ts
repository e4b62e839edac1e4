import type { ProfileInfo } from '../../client/generated/rpc';

/** The sender's name: the product name in parentheses if the gateway gives one. */
export const productName = ({ name }: Pick<ProfileInfo, 'name'>): string => /\(([^)]+)\)$/.exec(name)?.[1] ?? name;
