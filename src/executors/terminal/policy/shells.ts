/** Programs that a terminal may be opened with from level medium on. Once one runs, it may start others. */
export const ALLOWED_SHELLS: readonly string[] = [
  ...["bash", "sh", "zsh", "fish", "dash", "ksh", "tcsh", "csh"],
  ...["python", "python3", "ipython", "pdb", "pdb3", "node", "irb", "gdb", "lldb"],
  ...["vim", "vi", "nvim", "nano", "less", "psql", "mysql", "sqlite3", "redis-cli"],
];

/** A path to a shell elsewhere may be any program that goes by its name. */
export const SYSTEM_FOLDERS: readonly string[] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
