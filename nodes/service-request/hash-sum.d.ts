// The package has no types of its own.

declare module 'hash-sum' {
  /** @returns the same for the same content, in whatever order */
  export default function hashSum(value: unknown): string;
}
