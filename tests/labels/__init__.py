"""Every public function that takes labels, losses, names or paths, with every kind of label."""
