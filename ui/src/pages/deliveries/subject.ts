// What a delivery is about, as a person reads it: "codehost_a:house/gateway:pr:482" is "house/gateway pr 482".
export const subjectOf = (entity: string): string => entity.replace(/^[a-z_]+:(?=.)/, '').replaceAll(':', ' ');
